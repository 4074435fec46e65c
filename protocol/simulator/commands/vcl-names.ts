/** Names of programs and labels (vct.c VCT_invalid_name, mgt_vcl.c). */
import { cliStatus } from '../../status.js'
import { findProgram, type VclProgram } from '../engine-state.js'
import type { Call } from './call.js'

/** Refuses invalid names. An empty name fails an assertion in 7.1, which kills the manager (tested). */
export function mayBeName({ engine, reply }: Call, name: string): boolean {
  if (name === '') {
    engine.managerDied = true
    return false
  }
  const bad = /^[^A-Za-z]|[^A-Za-z0-9_-]/.exec(name)?.[0]
  if (bad === undefined) return true
  const isVisible = bad > ' ' && bad < '\x7f'
  const hex = bad.charCodeAt(0).toString(16).padStart(2, '0')
  reply.refuse(
    cliStatus.parameter,
    `Illegal character in VCL name ${isVisible ? `('${bad}')` : `(0x${hex})`}`,
  )
  return false
}

export function findNamed(call: Call, name: string): VclProgram | undefined {
  if (!mayBeName(call, name)) return undefined
  const program = findProgram(call.engine, name)
  const end = call.engine.release.has([null, '6.6']) ? '\n' : '.'
  if (program === undefined)
    call.reply.refuse(cliStatus.parameter, `No VCL named ${name} known${end}`)
  return program
}
