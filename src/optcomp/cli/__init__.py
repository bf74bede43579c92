"""The command `optcomp`: thin commands over the package, with no privacy arithmetic of their own.

Numbers travel as the text a person wrote, so that 0.1 means one tenth and not the float next to it.
"""
