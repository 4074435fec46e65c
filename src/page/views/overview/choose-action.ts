/** The one button beside a problem: what mends it, as far as the person may do it; else the way to what is ill. */
import type { OverviewProblem } from '../../../resources/overview.js'
import type { PermissionType } from '../../../resources/permission.js'
import { locateProblem } from './locate-object.js'

type ProblemAction =
  | { readonly kind: 'open'; readonly title: string; readonly href: string }
  | { readonly kind: 'retry' | 'rollback'; readonly title: string; readonly path: string }

type Subject = Pick<OverviewProblem, 'code' | 'object' | 'objects' | 'remedy'>

/** Null: it is shown nowhere. */
export function chooseAction(
  { code, object, objects, remedy }: Subject,
  mayWrite: (type: PermissionType) => boolean,
): ProblemAction | null {
  const place = locateProblem({ object, objects })
  if (!place) return null
  const { type, id } = object
  // While it is still tried there is nothing to retry.
  if (type === 'invalidation' && /\bretry\b/.test(remedy) && mayWrite('invalidation'))
    return { kind: 'retry', title: 'Retry', path: `/invalidations/${id}/retry` }
  // A deploy that failed as a whole changed nothing; here some caches serve another revision than the others. Groups of the
  // console are not rolled back, and their remedy is another.
  const isRefused = code === 'load-failed' && objects.some((one) => one.type === 'agent')
  const canGoBack = isRefused && /\brollback\b/.test(remedy)
  if (canGoBack && type === 'vclgroup' && mayWrite('vclgroup'))
    return { kind: 'rollback', title: 'Roll back…', path: `/vclgroups/${id}` }
  const verb = openingVerbs[code]
  const isAllowed = verb !== undefined && mayWrite(verb.needs)
  return { kind: 'open', title: isAllowed ? verb.title : 'Open', href: place.href }
}

/** What is pressed where the button leads. */
const openingVerbs: Readonly<
  Partial<
    Record<OverviewProblem['code'], { readonly needs: PermissionType; readonly title: string }>
  >
> = {
  'agent-locked': { needs: 'agent', title: 'Unlock…' },
  'certificate-expires': { needs: 'certificate', title: 'Replace…' },
  'no-agent-fits': { needs: 'vclgroup', title: 'Review' },
}
