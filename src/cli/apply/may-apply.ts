/** Checks that the caller has the permissions that a folder needs, and reports all missing ones before anything is changed. */
import type { ApplyStep } from './apply-plan.js'
import { isFields, requireList, type Fields } from '../api-shapes.js'
import { CliError, exitCodes } from '../cli-error.js'

type Access = 'read' | 'write'

interface Need {
  /** Permission type (docs/behaviour.md, Permissions). */
  readonly type: string
  readonly access: Access
}

/** `whoami`: response of `/auth/whoami`. */
export function findMissing(whoami: Fields, needs: readonly Need[]): readonly Need[] {
  const granted = new Map(
    requireList(whoami['permissions']).map((permission) => [permission['type'], permission]),
  )
  return needs.filter(({ type, access }) => {
    const grant = granted.get(type)
    return !isFields(grant) || grant[access] !== true
  })
}

/** Throws CliError (denied). */
export function requireAll(whoami: Fields, needs: readonly Need[]): void {
  const missing = new Set(findMissing(whoami, needs).map(({ type, access }) => `${access} ${type}`))
  if (missing.size === 0) return
  throw new CliError(
    exitCodes.denied,
    `This needs permission to ${[...missing].join(', to ')}; nothing was changed`,
  )
}

export function needsOf(steps: readonly ApplyStep[]): readonly Need[] {
  return steps.map(({ kind }) => ({ type: kind, access: 'write' }))
}

/** docs/behaviour.md, Files. */
export const compileNeeds: readonly Need[] = [
  { type: 'file', access: 'write' },
  { type: 'agent', access: 'read' },
]
