/** Where who uses keys or a screen reader goes on when what had the focus is gone. */

export const viewId = 'main'

export function focusView(): void {
  document.getElementById(viewId)?.focus({ preventScroll: true })
}
