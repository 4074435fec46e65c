/** Formats API errors as sentences. For display only: fields match a message by its beginning (is-about.ts). */

/** Capitalizes the first word unless it is a name: `mainVCL must be …`, `edge: …`, `site.vcl line 3 …`. */
export function startSentence(text: string): string {
  return /^[a-z]+(?:[\s,;]|$)/.test(text) ? text.slice(0, 1).toUpperCase() + text.slice(1) : text
}
