/** Capitalizes a phrase such as `delete tag "web"` to start a sentence. */
export function capitalize(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
