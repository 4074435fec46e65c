/**
 * How tests of VCL are kept from the host of the agent: in a network of their own, made in a user namespace where the agent is not root
 * (namespaces(7)). Of root only the network: the cache's program then drops to a user of its own, as ever.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

interface Containment {
  /** What becomes the runner, behind the words. */
  readonly words: readonly string[]
  /** Brings the network's loopback up. */
  readonly ip: string
  /** What becomes the cache's program: it needs no right of the namespace. */
  readonly through: readonly string[]
}

export type FoundContainment = Containment | { readonly missing: string }

const unshare = '/usr/bin/unshare'
const setpriv = '/usr/bin/setpriv'
const ipPlaces = ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip']
const probeTimeoutMs = 5_000

/** Looked for by doing it. */
export async function findContainment(): Promise<FoundContainment> {
  const ip = ipPlaces.find((path) => existsSync(path))
  if (ip === undefined) return { missing: 'ip (iproute2) is not there' }
  const isRoot = process.geteuid?.() === 0
  const words = isRoot
    ? [unshare, '--net', '--']
    : [unshare, '--user', '--map-current-user', '--keep-caps', '--net', '--']
  const through = isRoot ? [] : [setpriv, '--ambient-caps', '-all', '--inh-caps', '-all', '--']
  try {
    const probe = [...words.slice(1), ip, 'link', 'set', 'lo', 'up']
    await promisify(execFile)(unshare, probe, { timeout: probeTimeoutMs })
    return { words, ip, through }
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string } // of execFile
    const why = stderr?.trim().split('\n')[0] || String(error)
    return { missing: `the kernel makes no namespace for this user: ${why.slice(0, 200)}` }
  }
}
