/** Chooses the action that fixes a problem of a group, for the group's own page. Pure functions. */
import type { Problem } from '../../../resources/problem.js'
import { locateObject } from '../overview/locate-object.js'

/** True if the last deploy failed as a whole and changed nothing; a refusal by caches would name those caches. */
export function isFailedDeploy({ code, objects }: Pick<Problem, 'code' | 'objects'>): boolean {
  return code === 'load-failed' && objects.every(({ type }) => type !== 'agent')
}

/** Null: there is no button to offer. */
export function chooseMend(
  { id, console }: { readonly id: number; readonly console: boolean },
  { code, objects }: Pick<Problem, 'code' | 'objects'>,
): 'rollback' | { readonly title: string; readonly href: string } | null {
  // Caches that refused the deploy serve a different revision than the others.
  const isFailed = isFailedDeploy({ code, objects })
  if (code === 'load-failed' && !isFailed) return 'rollback'
  if (isFailed && !console) return { title: 'Review deploy', href: `/groups/${id}/deploy` }
  for (const one of objects) {
    const place = locateObject(one)
    if (place) return { title: `Open ${one.name}`, href: place.href }
  }
  return null
}
