/** The formats of settings, for convict; each describes valid values. */
import { isIP } from 'node:net'
import convict from 'convict'

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** Letters, digits, dashes; 52 leave room for `-sim-00001` within the 63 that the agent link accepts (docs/behaviour.md, Names). */
const agentName = /^[A-Za-z0-9-]{1,52}$/
/** Per agent, as the agent link accepts. */
const maxTags = 256
/** Object names have at most 255 characters; a tag, a deployment and files are named after the group. */
const maxGroupNameLength = 200

const forms: Readonly<Record<string, { read: (text: string) => unknown; valid: string }>> = {
  flag: { read: readFlag, valid: 'true or false' },
  'host-port': {
    // Stays text, because convict would search an object for settings.
    read: (text) => (readHostPort(text) ? text : undefined),
    valid: 'HOST:PORT, such as 127.0.0.1:8002 or [::1]:8002',
  },
  text: { read: (text) => (text === '' ? undefined : text), valid: 'a text that is not empty' },
  'absolute-path': {
    read: (text) => (text.startsWith('/') ? text : undefined),
    valid: 'an absolute path',
  },
  'compile-limits': {
    read: (text) => (readCompileLimits(text) ? text : undefined),
    valid:
      'seconds of CPU time (1s to 600s) and memory (64MiB to 65536MiB) separated by a comma, such as 20s,512MiB',
  },
  name: {
    read: (text) => (agentName.test(text) ? text : undefined),
    valid: '1 to 52 letters, digits or dashes',
  },
  'group-name': {
    read: (text) => (isName(text, maxGroupNameLength) ? text : undefined),
    valid: `1 to ${maxGroupNameLength} characters without controls`,
  },
  list: {
    read: readList,
    valid: 'words separated by commas',
  },
  tags: {
    read: readTags,
    valid: 'at most 256 words separated by commas, each 1 to 255 characters without controls',
  },
  networks: {
    read: (text) => {
      const members = readList(text)
      return members.every(isNetwork) ? members : undefined
    },
    valid: 'addresses or networks separated by commas, such as 192.0.2.7,10.0.0.0/8,fd00::/8',
  },
  apis: {
    read: readApis,
    valid: 'controller, console, or both separated by a comma',
  },
  store: {
    read: (text) => (/^(sqlite:.+|postgres(ql)?:\/\/.+)$/.test(text) ? text : undefined),
    valid: 'sqlite:PATH or postgres://USER@HOST/DATABASE',
  },
  bus: {
    read: (text) => (text === 'in-process' || areUrls(text, ['nats:', 'tls:']) ? text : undefined),
    valid: 'in-process or nats://USER:PASSWORD@HOST:PORT, several servers separated by commas',
  },
  'web-origin': {
    read: (text) => readWebOrigin(text),
    valid: 'https://HOST[:PORT] or http://HOST[:PORT], without a path',
  },
  'host-names': {
    read: (text) => {
      const names = readList(text)
      return names.every(isHost) ? names : undefined
    },
    valid: 'host names or addresses, separated by commas',
  },
  'websocket-urls': {
    read: (text) => (areUrls(text, ['ws:', 'wss:']) ? text : undefined),
    valid: 'ws://HOST:PORT or wss://HOST:PORT, several separated by commas',
  },
}

const apis = ['controller', 'console']

function readApis(text: string): readonly string[] | undefined {
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => apis.includes(name)) ? [...new Set(names)] : undefined
}

/** Registers the formats above, and those in `used` that are ranges of whole numbers, such as `1..3600`. */
export function addFormats(used: readonly unknown[]): void {
  for (const [name, form] of Object.entries(forms)) addFormat(name, form.read, form.valid)
  for (const range of used) {
    if (typeof range !== 'string' || !/^\d+\.\.\d+$/.test(range)) continue
    const [min = 0, max = 0] = range.split('..').map(Number)
    const read = (text: string): number | undefined => {
      const number = Number(text)
      return /^\d+$/.test(text) && number >= min && number <= max ? number : undefined
    }
    addFormat(range, read, `a whole number from ${min} to ${max}`)
  }
}

function addFormat(name: string, read: (text: string) => unknown, valid: string): void {
  convict.addFormat({
    name,
    // A text that cannot be parsed stays text, so that validate can report it.
    coerce: (value: unknown) => (typeof value === 'string' ? (read(value) ?? value) : value),
    // Parsed values and defaults are numbers, flags or lists: they are checked in their text form.
    validate: (value: unknown) => {
      if (value !== null && read(printValue(value)) === undefined)
        throw new Error(`must be ${valid}`)
    },
  })
}

/** Returns a value in the form of a flag or variable. */
export function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function readFlag(text: string): boolean | undefined {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  return undefined
}

/** Parses HOST:PORT; an IPv6 host is in brackets. */
export function readHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host !== undefined && port <= 65535 ? { host, port } : undefined
}

/** Parses limits such as `20s,512MiB`. */
export function readCompileLimits(
  text: string,
): { readonly cpuMs: number; readonly memoryBytes: number } | undefined {
  const match = /^(\d{1,3})s, ?(\d{2,5})MiB$/.exec(text)
  const [seconds, mebibytes] = [Number(match?.[1]), Number(match?.[2])]
  const isValid = seconds >= 1 && seconds <= 600 && mebibytes >= 64 && mebibytes <= 65_536
  return isValid ? { cpuMs: seconds * 1000, memoryBytes: mebibytes * 1024 * 1024 } : undefined
}

/** Returns the origin of an http or https URL that has no other parts. */
function readWebOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, origin, href } = new URL(text)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && href === `${origin}/` ? origin : undefined
}

function readList(text: string): readonly string[] {
  return text
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
}

/** As the agent link accepts them (docs/behaviour.md, Names); with others a coordinator would always refuse the agent. */
function readTags(text: string): readonly string[] | undefined {
  const tags = readList(text)
  return tags.length <= maxTags && tags.every((tag) => isName(tag, 255)) ? tags : undefined
}

/** The limit counts characters, not UTF-16 units. */
function isName(text: string, maxCharacters: number): boolean {
  const isPrintable = /^[^\0-\x1f\x7f-\x9f\u2028\u2029\p{Surrogate}]+$/u.test(text)
  return isPrintable && new RegExp(`^[^]{1,${maxCharacters}}$`, 'u').test(text)
}

function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1
  return prefix === undefined ? bits > 0 : Number(prefix) <= bits
}

/** As in a certificate; a wildcard is one label, the first. */
function isHost(text: string): boolean {
  const isName = /^(?:\*\.)?(?:[\w-]{1,63}\.)*[\w-]{1,63}$/.test(text) && text.length <= 253
  return isName || isIP(text) !== 0
}

/** Returns whether the text is a comma-separated list of such URLs, each with a host. */
function areUrls(text: string, protocols: readonly string[]): boolean {
  return text.split(',').every((one) => {
    if (!URL.canParse(one)) return false
    const { protocol, hostname } = new URL(one)
    return protocols.includes(protocol) && hostname !== ''
  })
}
