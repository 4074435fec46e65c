/** Errors of the API as sentences. Where they are shown only: fields find theirs by how a message begins (is-about.ts). */

/** With a capital; a name in front stays as it is written: `mainVCL must be …`, `edge: …`, `site.vcl line 3 …`. */
export function startSentence(text: string): string {
  return /^[a-z]+(?:[\s,;]|$)/.test(text) ? text.slice(0, 1).toUpperCase() + text.slice(1) : text
}
