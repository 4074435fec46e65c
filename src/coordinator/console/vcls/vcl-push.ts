/**
 * A push: a new head of a branch, or an earlier commit that is the head again. A branch that groups of the console have is
 * compiled before, on one cache of each release among theirs; no cache is changed until the next deploy.
 */
import type { Context } from '../../../context.js'
import { chooseCompilers } from '../../files/branch.js'
import type { Commit } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { isInConsoleGroup, readBranchCaches } from '../../files/branch-queries.js'
import { findVersion, lockFile, moveHead } from '../../files/file-queries.js'
import { compileOnAgents } from '../../deploying/compile-on-agents.js'
import { flattenTexts } from '../../deploying/compile.js'
import { guardEdit } from '../../api/editing.js'
import { updateFile } from '../../files/files.js'
import type { StateService } from '../../service.js'
import {
  findBranchIn,
  readCommit,
  readHead,
  requireMayChange,
  type BranchRecord,
  type WholeCommit,
} from './vcls.js'

export interface PushRequest {
  readonly branch: BranchRecord
  /** Null: the text becomes the head in any case. */
  readonly onto: Commit | null
  /** Left out: `onto` itself becomes the head. */
  readonly content?: string | undefined
}

interface Pushed {
  readonly head: WholeCommit
  /** Where it was compiled, or why nowhere. */
  readonly message: string
}

/** Throws FleetError: not-found; conflict when the head is another by now; uncompilable; unavailable, timed-out. */
export async function pushCommit(
  service: StateService,
  context: Context,
  actor: Actor,
  { branch, onto, content }: PushRequest,
): Promise<Pushed> {
  requireMayChange(actor, branch)
  const known = onto && (await readCommit(service, branch, onto))
  if (content === undefined) {
    if (!known)
      throw new FleetError('invalid', 'vcl', 'a push has a text, or the commit to return to')
    const message = await compileForGroups(service, context, branch, known.content)
    await makeHead(service, actor, branch, known.version)
    return { head: await readHead(service, { ...branch, version: known.version }), message }
  }
  const requireHead = (now: BranchRecord | undefined) => {
    if (!now) throw deletedMeanwhile()
    requireMayChange(actor, now)
    if (onto && now.version !== onto.version) throw headMoved()
  }
  requireHead(branch)
  const message = await compileForGroups(service, context, branch, content)
  const guarded = guardEdit(service, async (inside) => {
    requireHead(await findBranchIn(inside.store.queries, actor, branch.id))
  })
  const change = { source: content, encoded: false }
  const { version } = await updateFile(guarded, actor, branch.id, change)
  return { head: await readHead(service, { ...branch, version }), message }
}

async function makeHead(
  service: StateService,
  actor: Actor,
  branch: BranchRecord,
  number: number,
): Promise<void> {
  await service.store.transaction(async (queries) => {
    await lockFile(queries, branch.id)
    const now = await findBranchIn(queries, actor, branch.id)
    const version = now && (await findVersion(queries, branch.id, number))
    if (!version) throw deletedMeanwhile()
    requireMayChange(actor, now)
    await moveHead(queries, branch.id, version, service.now())
  })
}

function deletedMeanwhile(): FleetError {
  return new FleetError('not-found', 'vcl', 'the branch was deleted meanwhile')
}

function headMoved(): FleetError {
  return new FleetError(
    'conflict',
    'vcl',
    'that commit is no longer the head of the branch; read the head, and push onto that',
  )
}

/**
 * Answers what was done. When no cache of its groups is connected the text is stored anyway, since a push
 * changes no cache and the deploy compiles again; faults that show without a cache are refused even then.
 */
async function compileForGroups(
  service: StateService,
  context: Context,
  branch: BranchRecord,
  text: string,
): Promise<string> {
  const { queries } = service.store
  if (!(await isInConsoleGroup(queries, branch.id)))
    return 'stored without a compile: no group of the console has this branch'
  const owner = branch.organizationId
  const main = { name: branch.name, text }
  const source = await flattenTexts(service, owner, { main, includes: [], root: true })
  const caches = chooseCompilers(await readBranchCaches(queries, branch.id))
  if (caches.length === 0) return 'stored without a compile: no cache of its groups is running'
  await compileOnAgents(service, context, caches, { source, errorKey: 'vcl', owner })
  return `compiled by ${caches.map(({ name, release }) => `${release.version} (${name})`).join(', ')}`
}
