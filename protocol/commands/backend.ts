/** Backends: their health in the cache, and overriding it (varnish-cli(7), cache_backend_cfg.c). */

import { expectJson, expectOk, garbledAnswer, type Command } from '../command.js'
import { ManagementPortError } from '../errors.js'
import type { Reply } from '../frame.js'
import { numberOrNull, readObject, textOrNull, type JsonObject } from '../json.js'
import { childCommandLine } from '../quote.js'

export interface Backend {
  /** `<vcl>.<backend>`; directors are listed in the same form. */
  readonly name: string
  /** `backend`, or the kind of a director; null if the release does not print it. */
  readonly type: string | null
  /** The override: `probe` or `auto` (as probed), `healthy`, `sick`. A backend without a probe shows `healthy`. */
  readonly adminHealth: string
  /** Successful ones among the latest probes, or healthy ones among a director's backends; both 0 without a probe. */
  readonly good: number
  readonly total: number
  /** True if the cache would use it; an override takes precedence over the probe. */
  readonly isHealthy: boolean
  /** Unix time; null if the release prints text that is not a date. */
  readonly lastChangeSeconds: number | null
  /** `probe_details` of `-p`, as printed by the release. */
  readonly details: JsonObject | null
}

export interface BackendListOptions {
  /**
   * Glob. Without a dot it matches in the active VCL only; `<vcl>.<backend>` matches in others, but kills the child of some releases if
   * labels exist (7.7.3: varnish-cache issue 4390).
   */
  readonly pattern?: string
  /** Includes details of the probes. */
  readonly probes?: boolean
}

type AdminHealth = 'auto' | 'healthy' | 'sick'

/** Returns an empty list if nothing matches. */
export function backendList(options: BackendListOptions = {}): Command<readonly Backend[]> {
  return {
    name: 'backend.list',
    line: backendListLine(['-j'], options),
    parse: parseBackendList,
  }
}

export function backendListLine(flags: readonly string[], options: BackendListOptions): string {
  const probes = options.probes === true ? ['-p'] : []
  const pattern =
    options.pattern === undefined ? [] : [checkPattern('backend.list', options.pattern)]
  return childCommandLine('backend.list', [...flags, ...probes, ...pattern])
}

/** Valid until it is changed, the VCL is discarded or the child restarts. Rejected (106) if nothing matches. */
export function backendSetHealth(pattern: string, health: AdminHealth): Command<void> {
  const words = [checkPattern('backend.set_health', pattern), health]
  return {
    name: 'backend.set_health',
    line: childCommandLine('backend.set_health', words),
    parse: expectOk,
  }
}

function checkPattern(command: string, pattern: string): string {
  if (pattern.startsWith('-'))
    throw new ManagementPortError(
      'refused',
      'refused before sending: a pattern cannot start with a dash, it would be taken for a flag',
      { command },
    )
  return pattern
}

function parseBackendList(reply: Reply, name: string): readonly Backend[] {
  const { payload } = expectJson(reply, name)
  return Object.entries(readObject(payload[0], name)).map(([backend, value]) => {
    const row = readObject(value, name)
    const [good, total, health] = readProbeMessage(row['probe_message'])
    if (health === undefined) throw garbledAnswer(name, `"${backend}" without probe_message`)
    const adminHealth = textOrNull(row['admin_health']) ?? 'auto'
    const details = row['probe_details']
    return {
      name: backend,
      type: textOrNull(row['type']),
      adminHealth,
      good: numberOrNull(good) ?? 0,
      total: numberOrNull(total) ?? 0,
      isHealthy: judgeHealth(adminHealth, textOrNull(health) ?? 'sick'),
      lastChangeSeconds: numberOrNull(row['last_change']),
      details: details === undefined ? null : readObject(details, name),
    }
  })
}

/** `[5, 5, "healthy"]`; in 6.1 `"5/5 good"`, or `"healthy"` without a probe. */
function readProbeMessage(message: unknown): readonly unknown[] {
  if (typeof message !== 'string') return Array.isArray(message) ? message : []
  const [, good, total, health] = /^(?:(\d+)\/(\d+) )?([a-z]+)\s*$/.exec(message) ?? []
  return [Number(good ?? 0), Number(total ?? 0), health]
}

/** The list shows the probed state even if it is overridden (seen on 7.1.1). */
export function judgeHealth(adminHealth: string, probed: string): boolean {
  if (adminHealth === 'healthy' || adminHealth === 'sick') return adminHealth === 'healthy'
  // 6.1 prints `good`.
  return /^(?:healthy|good)$/i.test(probed)
}
