/** Reads a local file into the form that the API accepts. */

export interface Upload {
  readonly source: string
  /** True if the source is base64. */
  readonly encoded: boolean
}

/** UTF-8 without NUL is sent as text, everything else as base64. */
export function readUpload(bytes: Uint8Array): Upload {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return { source: text, encoded: false }
  } catch {
    // No UTF-8.
  }
  const parts: string[] = []
  // A multiple of 3 bytes (one base64 group), and few enough arguments for one call.
  for (let at = 0; at < bytes.length; at += 30_000)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 30_000))))
  return { source: parts.join(''), encoded: true }
}
