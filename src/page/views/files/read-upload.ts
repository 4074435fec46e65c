/** A file of this machine as the API takes it. */

export interface Upload {
  readonly source: string
  /** The source is base64. */
  readonly encoded: boolean
}

/** Text where it is UTF-8 without a NUL; everything else is sent as its bytes. */
export function readUpload(bytes: Uint8Array): Upload {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return { source: text, encoded: false }
  } catch {
    // No UTF-8.
  }
  const parts: string[] = []
  // A whole number of base64's groups of three, and few enough for one call.
  for (let at = 0; at < bytes.length; at += 30_000)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 30_000))))
  return { source: parts.join(''), encoded: true }
}
