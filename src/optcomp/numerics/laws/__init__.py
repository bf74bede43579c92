"""Laws of single real random variables, as the contour integral needs them: exponential moments on vertical lines."""
