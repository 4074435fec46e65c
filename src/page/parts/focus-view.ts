/** Moves the focus to the view when the focused element is gone, for users of keyboards and screen readers. */

export const viewId = 'main'

export function focusView(): void {
  document.getElementById(viewId)?.focus({ preventScroll: true })
}
