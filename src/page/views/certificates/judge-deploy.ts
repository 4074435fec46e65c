/** Whether caches serve another certificate than the one that is shown: its state and expiry alone would not say so. */
import type { Certificate } from '../../../resources/certificate.js'

interface DeployNote {
  readonly words: string
  readonly tone: 'warn' | 'bad'
}

/** Null: they serve this one, or it was never deployed. */
export function judgeDeploy({
  changed,
  deployError,
}: Pick<Certificate, 'changed' | 'deployError'>): DeployNote | null {
  if (deployError !== null) return { words: 'deploy failed', tone: 'bad' }
  return changed ? { words: 'not deployed', tone: 'warn' } : null
}
