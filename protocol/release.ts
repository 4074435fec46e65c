/** Which release of the cache this is, and what it can do. The banner is the only place that says it. */

export interface Banner {
  /** As printed, such as `varnish`: other builds and later names are read alike. */
  readonly product: string | null
  /** Such as `7.1.1`; null where the banner names none (development builds). */
  readonly version: string | null
  readonly revision: string | null
  /** All of it. */
  readonly text: string
}

/** `product-version revision hash` on a line of its own; the product's name may have dashes. */
const versionLine = /^([A-Za-z][A-Za-z0-9-]*?)-(\d[\w.+-]*|trunk)(?: revision (\w+))?\s*$/m

export function parseBanner(text: string): Banner {
  const found = versionLine.exec(text)
  const version = found?.[2] ?? null
  return {
    product: found?.[1] ?? null,
    version: version === 'trunk' ? null : version,
    revision: found?.[3] ?? null,
    text,
  }
}

/** `-j` per command since which release of 6.0, and which of the releases after it (the tags' cli_cmds.h and CLI tables). */
const jsonSince: Readonly<Record<string, readonly [lts: string | null, main: string]>> = {
  'ban.list': ['6.0.2', '6.2'],
  help: ['6.0.2', '6.2'],
  'panic.show': ['6.0.2', '6.2'],
  'param.show': ['6.0.2', '6.2'],
  ping: ['6.0.2', '6.2'],
  status: ['6.0.2', '6.2'],
  'storage.list': ['6.0.2', '6.2'],
  'vcl.list': ['6.0.2', '6.2'],
  // 6.0 advertises it and answers 102.
  'backend.list': [null, '6.2'],
  pid: ['6.0.7', '6.4'],
  'vcl.deps': [null, '6.6'],
  'param.set': [null, '7.1'],
  'param.reset': [null, '7.5'],
}

/** A build without a version number is taken for the newest. */
export function supportsJson(version: string | null, command: string): boolean {
  const since = jsonSince[command]
  if (!since) return false
  if (version === null) return true
  const [lts, main] = since
  if (version.startsWith('6.0.') && lts === null) return false
  return isAtLeast(version, version.startsWith('6.0.') && lts !== null ? lts : main)
}

/** Compares dotted numbers; what is behind the third does not count. */
export function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [version, least].map((text) => text.split('.').map((part) => parseInt(part, 10)))
  for (let index = 0; index < 3; index++) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}
