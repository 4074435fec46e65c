/** The problems of a webhook. Pure. */
import { severities } from '../../resources/problem.js'
import { quoteText, type Finding } from './make-problem.js'

interface JudgedWebhook {
  readonly name: string
  readonly enabled: boolean
  /** Null: it is not failing. */
  readonly failingSince: number | null
  readonly lastError: string | null
}

export function findWebhookProblems({
  name,
  enabled,
  failingSince,
  lastError,
}: JudgedWebhook): Finding[] {
  if (failingSince === null) return []
  const why = lastError === null ? '' : `: ${quoteText(lastError)}`
  const common = { code: 'webhook-failing', sinceMs: failingSince } as const
  if (enabled)
    return [
      {
        ...common,
        message: `Deliveries fail${why}`,
        remedy: `Mend what answers there; it is tried again for 24 hours. \`webhooks test ${name}\` sends one now`,
      },
    ]
  return [
    {
      ...common,
      severity: severities.error,
      message: `It was turned off, since deliveries failed for 24 hours${why}`,
      remedy: `Mend what answers there, then \`webhooks update ${name} --enabled\``,
    },
  ]
}
