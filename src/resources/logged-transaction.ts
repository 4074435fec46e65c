/** Requests of the live log, as they are answered. */
export const loggedFields = [
  ...(['at', 'agent', 'vclGroup', 'method', 'host', 'url', 'status', 'handling', 'bytes'] as const),
  ...(['ttfbMs', 'durationMs', 'backend', 'client', 'xid'] as const),
] as const
export type LoggedField = (typeof loggedFields)[number]
