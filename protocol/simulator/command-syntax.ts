/** Syntax and number of arguments of a command, where releases differ from 7.1.1 (include/tbl/cli_cmds.h). */
import type { Since } from '../release.js'
import type { EngineRelease } from './release.js'

/** Most commands learned -j together; 6.1 is older than 6.0.2. */
export const firstJson: Since = ['6.0.2', '6.2']
const discardsSeveral: Since = [null, '6.6']
const showsActive: Since = [null, '7.1']

/** Before 6.6 one name, no globs; before 7.1 there is no vcl.show of the active one. */
export function countArguments(
  name: string,
  [least, most]: readonly [least: number, most?: number],
  { has }: EngineRelease,
): { readonly least: number; readonly most: number | undefined } {
  if (name === 'vcl.discard' && !has(discardsSeveral)) return { least, most: 1 }
  if (name === 'vcl.show' && !has(showsActive)) return { least: 1, most }
  return { least, most: most === Infinity ? undefined : most }
}

/** Releases without -j do not speak of it; 6.0 promises one for backend.list, and 6.1 hides its own. */
export function writeSyntax(name: string, syntax: string, { has }: EngineRelease): string {
  if (name === 'vcl.discard' && !has(discardsSeveral)) return 'vcl.discard <configname|label>'
  if (name === 'vcl.show' && !has(showsActive)) return 'vcl.show [-v] <configname>'
  if (has(firstJson)) return syntax
  return name === 'param.show'
    ? 'param.show [-l] [<param>|changed]'
    : syntax.replace(' [-j]', '').replace('[-j|<command>]', '[<command>]')
}
