/** The release of the cache and its features. Only the banner names the release. */

export interface Banner {
  /** As printed, for example `varnish`; other builds and later names have the same form. */
  readonly product: string | null
  /** For example `7.1.1`; null if the banner has none (development builds). */
  readonly version: string | null
  readonly revision: string | null
  /** The complete banner. */
  readonly text: string
}

/** `product-version revision hash` on its own line; the product's name may contain dashes. */
const versionLine =
  /^([A-Za-z][A-Za-z0-9]*(?:-[A-Za-z][A-Za-z0-9]*)*)-(\d[\w.+-]*|trunk)(?: revision (\w+))?\s*$/m

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

/** The first release with a feature: in the 6.0 branch (null if none has it), and in later releases. */
export type Since = readonly [lts: string | null, main: string]

/** Support of `-j` per command (from the CLI tables of all release tags). */
const jsonSince: Readonly<Record<string, Since>> = {
  'ban.list': ['6.0.2', '6.2'],
  help: ['6.0.0', '6.1'],
  'panic.show': ['6.0.2', '6.2'],
  'param.show': ['6.0.2', '6.2'],
  ping: ['6.0.2', '6.1'],
  status: ['6.0.2', '6.2'],
  'storage.list': ['6.0.2', '6.2'],
  'vcl.list': ['6.0.2', '6.2'],
  // 6.0 advertises it and responds with 102.
  'backend.list': [null, '6.1'],
  pid: ['6.0.7', '6.4'],
  'vcl.deps': [null, '6.6'],
  'param.set': [null, '7.1'],
  'param.reset': [null, '7.5'],
}

/** Commands that 6.0.0 lacks. */
const commandSince: Readonly<Record<string, Since>> = {
  'param.reset': ['6.0.5', '6.2'],
  pid: ['6.0.7', '6.4'],
  'vcl.deps': [null, '6.6'],
  'tls.cert.list': [null, '9.0'],
}

/** A build without a version number counts as the newest. */
export function supportsJson(version: string | null, command: string): boolean {
  const since = jsonSince[command]
  return since !== undefined && isSince(version, since)
}

/** True if the command exists; also for commands of every release. */
export function hasCommand(version: string | null, command: string): boolean {
  const since = commandSince[command]
  return since === undefined || isSince(version, since)
}

export function isSince(version: string | null, [lts, main]: Since): boolean {
  if (version === null) return true
  if (!version.startsWith('6.0.') && version !== '6.0') return isAtLeast(version, main)
  return lts !== null && isAtLeast(version, lts)
}

/** Compares dotted numbers; parts after the third are ignored. */
export function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [version, least].map((text) => text.split('.').map((part) => parseInt(part, 10)))
  for (let index = 0; index < 3; index++) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}
