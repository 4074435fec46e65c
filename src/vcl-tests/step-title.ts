/** A short description of a step. */
import type { StepAction } from '../test-files/test-file.js'

const maxCharacters = 120

export function titleOf(action: StepAction): string {
  const text = compose(action)
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
}

function compose(action: StepAction): string {
  switch (action.kind) {
    case 'request':
      return `${action.request.method} ${action.request.host ?? ''}${action.request.url}`
    case 'ban':
      return `ban ${action.expression}`
    case 'purge':
      return `purge ${action.url.href}`
    case 'advance':
      return `advance ${action.seconds} s`
    case 'health':
      return `backend ${action.backend} ${action.health}`
  }
}
