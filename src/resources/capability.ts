/** Capabilities of an agent: declared once in hello, checked by the coordinator and enforced in the agent. */

/**
 * `report`: report state. `deploy`: change VCL. `command`: change parameters and health. `invalidate`: carry out bans and
 * purges; an agent of an earlier version does not know the message. `tls`: hold certificates; the cache has a TLS listener.
 * `log`: read the cache's log; also with a read-only agent. `health`: receive the `standing` message, which it passes on to
 * load balancers. `tests`: run tests of VCL in a private cache.
 */
export const capabilities = [
  ...(['report', 'deploy', 'command', 'invalidate', 'tls', 'log', 'health', 'tests'] as const),
] as const
export type Capability = (typeof capabilities)[number]

export function capabilitiesOf(options: {
  readonly readOnly: boolean
  readonly hasTls?: boolean
  readonly hasLog?: boolean
  readonly hasHealth?: boolean
  readonly hasTests?: boolean
}): readonly Capability[] {
  const { readOnly, hasTls = false, hasLog = false, hasHealth = false, hasTests = false } = options
  const missing = new Set<Capability>([
    ...(readOnly ? (['deploy', 'command', 'invalidate'] as const) : []),
    ...(readOnly || !hasTls ? (['tls'] as const) : []),
    ...(hasLog ? [] : (['log'] as const)),
    ...(hasHealth ? [] : (['health'] as const)),
    ...(readOnly || !hasTests ? (['tests'] as const) : []),
  ])
  return capabilities.filter((name) => !missing.has(name))
}
