/** What an agent may be asked to do: declared once in hello, looked up by the coordinator and enforced in the agent. */

/**
 * `report`: tell what is true. `deploy`: change VCL. `command`: change parameters and health. `invalidate`: carry out bans and
 * purges; an agent of an earlier version does not know the message. `tls`: hold certificates; the cache has a TLS listener.
 * `log`: read the cache's log; a read-only agent may, too.
 */
export const capabilities = ['report', 'deploy', 'command', 'invalidate', 'tls', 'log'] as const
export type Capability = (typeof capabilities)[number]

export function capabilitiesOf(options: {
  readonly readOnly: boolean
  readonly hasTls?: boolean
  readonly hasLog?: boolean
}): readonly Capability[] {
  const { readOnly, hasTls = false, hasLog = false } = options
  const log = hasLog ? (['log'] as const) : []
  if (readOnly) return ['report', ...log]
  return capabilities.filter((name) => (name !== 'tls' || hasTls) && (name !== 'log' || hasLog))
}
