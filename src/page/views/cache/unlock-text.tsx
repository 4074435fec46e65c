/** Describes in the confirmation what an unlock would change. */
import type { UnlockDifference } from '../../../resources/agent.js'
import { describeUnlock } from './describe-unlock.js'

export function UnlockText({ difference }: { readonly difference: UnlockDifference | null }) {
  const lines = difference === null ? null : describeUnlock(difference)
  return (
    <>
      <p>It will take this coordinator's word from now on, and drop what it knows better.</p>
      {lines === null && <p>What that changes on the cache is not known.</p>}
      {lines?.length === 0 && <p>Its cache does not change.</p>}
      {lines && lines.length > 0 && (
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </>
  )
}
