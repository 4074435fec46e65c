/** What mends a problem of a group, seen from its own page: values in, values out. */
import type { Problem } from '../../../resources/problem.js'
import { locateObject } from '../overview/locate-object.js'

/** The last deploy failed as a whole, and changed nothing; where caches refused it they are named. */
export function isFailedDeploy({ code, objects }: Pick<Problem, 'code' | 'objects'>): boolean {
  return code === 'load-failed' && objects.every(({ type }) => type !== 'agent')
}

/** Null: nothing that can be pressed. */
export function chooseMend(
  { id, console }: { readonly id: number; readonly console: boolean },
  { code, objects }: Pick<Problem, 'code' | 'objects'>,
): 'rollback' | { readonly title: string; readonly href: string } | null {
  // Caches refused it: they serve another revision than the others.
  const isFailed = isFailedDeploy({ code, objects })
  if (code === 'load-failed' && !isFailed) return 'rollback'
  if (isFailed && !console) return { title: 'Review deploy', href: `/groups/${id}/deploy` }
  for (const one of objects) {
    const place = locateObject(one)
    if (place) return { title: `Open ${one.name}`, href: place.href }
  }
  return null
}
