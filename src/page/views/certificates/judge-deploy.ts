/** Whether caches serve a different certificate than the one shown, which its state and expiry do not reveal. */
import type { Certificate } from '../../../resources/certificate.js'

interface DeployNote {
  readonly words: string
  readonly tone: 'warn' | 'bad'
}

/** Null: the caches serve this one, or it was never deployed. */
export function judgeDeploy({
  changed,
  deployError,
}: Pick<Certificate, 'changed' | 'deployError'>): DeployNote | null {
  if (deployError !== null) return { words: 'deploy failed', tone: 'bad' }
  return changed ? { words: 'not deployed', tone: 'warn' } : null
}
