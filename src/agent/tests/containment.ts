/**
 * Isolates tests of VCL from the agent's host: in their own network, created in a user namespace unless the agent is root
 * (namespaces(7)). As root only the network is separate: the cache's program then drops to its own user, as always.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

interface Containment {
  /** Command prefix that executes the runner. */
  readonly words: readonly string[]
  /** The `ip` program, which brings up the network's loopback. */
  readonly ip: string
  /** Command prefix that executes the cache's program without any capability of the namespace. */
  readonly through: readonly string[]
}

export type FoundContainment = Containment | { readonly missing: string }

const unshare = '/usr/bin/unshare'
const setpriv = '/usr/bin/setpriv'
const ipPlaces = ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip']
const probeTimeoutMs = 5_000

/** Tests whether it works by trying it. */
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
