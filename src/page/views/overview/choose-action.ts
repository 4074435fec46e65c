/** Chooses the button beside a problem: the fix if the user may apply it, else a link to the affected object. */
import type { OverviewProblem } from '../../../resources/overview.js'
import type { PermissionType } from '../../../resources/permission.js'
import { locateProblem } from './locate-object.js'

type ProblemAction =
  | { readonly kind: 'open'; readonly title: string; readonly href: string }
  | { readonly kind: 'retry' | 'rollback'; readonly title: string; readonly path: string }

type Subject = Pick<OverviewProblem, 'code' | 'object' | 'objects' | 'remedy'>

/** Null: the object has no view. */
export function chooseAction(
  { code, object, objects, remedy }: Subject,
  mayWrite: (type: PermissionType) => boolean,
): ProblemAction | null {
  const place = locateProblem({ object, objects })
  if (!place) return null
  const { type, id } = object
  // While attempts continue, there is nothing to retry.
  if (type === 'invalidation' && /\bretry\b/.test(remedy) && mayWrite('invalidation'))
    return { kind: 'retry', title: 'Retry', path: `/invalidations/${id}/retry` }
  // A deploy that failed as a whole changed nothing; here some caches serve a different revision. Groups of the console are
  // not rolled back and have a different remedy.
  const isRefused = code === 'load-failed' && objects.some((one) => one.type === 'agent')
  const canGoBack = isRefused && /\brollback\b/.test(remedy)
  if (canGoBack && type === 'vclgroup' && mayWrite('vclgroup'))
    return { kind: 'rollback', title: 'Roll back…', path: `/vclgroups/${id}` }
  const verb = openingVerbs[code]
  const isAllowed = verb !== undefined && mayWrite(verb.needs)
  return { kind: 'open', title: isAllowed ? verb.title : 'Open', href: place.href }
}

/** The action to take in the view that the button opens. */
const openingVerbs: Readonly<
  Partial<
    Record<OverviewProblem['code'], { readonly needs: PermissionType; readonly title: string }>
  >
> = {
  'agent-locked': { needs: 'agent', title: 'Unlock…' },
  'certificate-expires': { needs: 'certificate', title: 'Replace…' },
  'no-agent-fits': { needs: 'vclgroup', title: 'Review' },
}
