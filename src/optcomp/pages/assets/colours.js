// Colours of the documentation in a folder: as the system has them, or as the visitor chose.  It runs before the page is
// drawn, so nothing flashes.  Without scripts the system decides, and the buttons stay hidden.
(() => {
  "use strict";
  const name = "optcomp-theme", themes = ["auto", "light", "dark"];

  function chosen() {
    try { return localStorage.getItem(name); } catch { return null; } // a browser may keep nothing
  }

  function show(theme) {
    document.documentElement.dataset.theme = themes.includes(theme) ? theme : "auto";
    for (const button of document.querySelectorAll("#colours button")) {
      button.setAttribute("aria-pressed", String(button.value === document.documentElement.dataset.theme));
    }
  }

  show(chosen());
  document.addEventListener("DOMContentLoaded", () => {
    const buttons = document.getElementById("colours");
    buttons.hidden = false;
    show(chosen());
    buttons.addEventListener("click", (event) => {
      const theme = event.target.closest("button")?.value;
      if (!theme) return;
      try { localStorage.setItem(name, theme); } catch { /* this page alone, then */ }
      show(theme);
    });
  });
})();
