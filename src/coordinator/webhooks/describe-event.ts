/** Describes an event in one line for people. Pure. */

type Parts = Readonly<Record<string, unknown>>

export function describeEvent(type: string, data: unknown): string {
  const parts = toParts(data)
  const { object = parts } = parts
  const about = `${type === 'problem' ? textOf(toParts(object)['type']) : type} ${nameOf(toParts(object))}`
  if (parts['deleted'] === true) return `${about} was deleted`
  const rest = describers[type]?.(parts) ?? textOf(parts['stateName'])
  if (type === 'apilog' || type === 'test') return rest
  return rest === '' ? about : `${about}: ${rest}`
}

const describers: Readonly<Record<string, (data: Parts) => string>> = {
  problem: describeProblem,
  deployment: ({ stateName, vclgroup }) => {
    const group = toParts(vclgroup)
    const own = textOf(stateName)
    return vclgroup ? `${own}; group ${nameOf(group)}: ${textOf(group['stateName'])}` : own
  },
  rollout: describeRollout,
  gate: describeRollout,
  invalidation: ({ type, stateName }) => `${textOf(type)} ${textOf(stateName)}`,
  apilog: ({ account, method, path, status, msg }) =>
    [account, method, path, status, msg].map(textOf).filter(Boolean).join(' '),
  test: ({ webhook }) => `A test of webhook ${nameOf(toParts(webhook))}`,
}

function describeRollout({ vclGroup, revision, stateName, wave, reason }: Parts): string {
  const to = `${nameOf(toParts(vclGroup))} to revision ${textOf(revision)}: ${textOf(stateName)}`
  const why = textOf(reason)
  return `${to}, wave ${textOf(wave)}${why === '' ? '' : `, ${why}`}`
}

function describeProblem({ opened, closed }: Parts): string {
  const lines = listOf(opened).map((one) => {
    const { code, message, remedy } = toParts(one)
    return `${textOf(code)}: ${textOf(message)}. ${textOf(remedy)}`
  })
  return [...lines, ...listOf(closed).map((code) => `${textOf(code)} is over`)].join('; ')
}

function nameOf(parts: Parts): string {
  return textOf(parts['name'] ?? parts['fqdn'] ?? parts['id'])
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function toParts(value: unknown): Parts {
  return typeof value === 'object' && value !== null ? (value as Parts) : {} // read by name only
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
