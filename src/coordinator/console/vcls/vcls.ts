/** VCL branches of the console (docs/behaviour.md, Console VCL): main files of the controller, with their versions as commits. */
import { mayChangeBranch, seesBranch } from '../../files/branch.js'
import { toCommitId, type Commit } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { fileTypes } from '../../../resources/file.js'
import { FleetError } from '../../../errors.js'
import { readBranches, type BranchRecord } from '../../files/branch-queries.js'
import { toVclText } from '../../files/file-texts.js'
import { findVersion, selectVersions, type FileVersionRecord } from '../../files/file-queries.js'
import type { Queries } from '../../store/store.js'
import { createFile, deleteFile, updateFile } from '../../files/files.js'
import { scopeOf, type StateService } from '../../service.js'

export type { BranchRecord } from '../../files/branch-queries.js'

export interface CommitRecord extends Commit {
  readonly isHead: boolean
  /** Name of the account that made it. */
  readonly account: string
  readonly createdAt: number
}

export interface WholeCommit extends CommitRecord {
  readonly content: string
}

/** By id, without contents. */
export async function listBranches(service: StateService, actor: Actor): Promise<BranchRecord[]> {
  const branches = await readBranches(service.store.queries, scopeOf(actor))
  return branches.filter((branch) => seesBranch(actor, branch))
}

/** Undefined: there is none, or not for this caller. */
export function findBranch(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<BranchRecord | undefined> {
  return findBranchIn(service.store.queries, actor, id)
}

export async function findBranchIn(
  queries: Queries,
  actor: Actor,
  id: number,
): Promise<BranchRecord | undefined> {
  const [branch] = await readBranches(queries, scopeOf(actor), id)
  return branch && seesBranch(actor, branch) ? branch : undefined
}

interface NewBranch {
  readonly name: string
  readonly description?: string | undefined
  readonly content: string
}

/** With its first commit, stored uncompiled: it is in no group yet. */
export async function createBranch(
  service: StateService,
  actor: Actor,
  { name, description, content }: NewBranch,
): Promise<BranchRecord> {
  const fields = { name, source: content, fileType: fileTypes.main, description }
  const { id } = await createFile(service, actor, fields)
  return readBranchAgain(service, actor, id)
}

/** A content is changed by a push only. */
export async function updateBranch(
  service: StateService,
  actor: Actor,
  branch: BranchRecord,
  change: { readonly name?: string | undefined; readonly description?: string | undefined },
): Promise<BranchRecord> {
  requireMayChange(actor, branch)
  await updateFile(service, actor, branch.id, change)
  return readBranchAgain(service, actor, branch.id)
}

/** Throws 'conflict' while a group uses it. */
export async function deleteBranch(
  service: StateService,
  actor: Actor,
  branch: BranchRecord,
): Promise<void> {
  requireMayChange(actor, branch)
  await deleteFile(service, branch)
}

export function requireMayChange(actor: Actor, branch: BranchRecord): void {
  if (mayChangeBranch(actor, branch)) return
  throw new FleetError(
    'forbidden',
    'vcl',
    'a group that is not assigned to you uses this branch too; make one of your own with its content',
  )
}

async function readBranchAgain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<BranchRecord> {
  const branch = await findBranch(service, actor, id)
  if (!branch) throw new FleetError('not-found', 'vcl', 'the branch was deleted meanwhile')
  return branch
}

export function readHead(service: StateService, branch: BranchRecord): Promise<WholeCommit> {
  return readCommit(service, branch, { fileId: branch.id, version: branch.version })
}

/** Throws 'not-found'. */
export async function readCommit(
  service: StateService,
  branch: BranchRecord,
  commit: Commit,
): Promise<WholeCommit> {
  const isOfBranch = commit.fileId === branch.id
  const found = isOfBranch && (await findVersion(service.store.queries, branch.id, commit.version))
  if (!found)
    throw new FleetError('not-found', 'vcl', `commit ${toCommitId(commit)} was not found here`)
  const { text } = toVclText({ ...found, id: branch.id, name: branch.name })
  return { ...toCommit(branch, found), content: text }
}

/** Newest first, without contents. */
export async function listCommits(
  service: StateService,
  branch: BranchRecord,
  { page, items }: { readonly page: number; readonly items: number },
): Promise<CommitRecord[]> {
  const rows = await selectVersions(service.store.queries, branch.id)
    .orderBy('version', 'desc')
    .limit(items)
    .offset((page - 1) * items)
    .execute()
  return rows.map((row) => toCommit(branch, row))
}

function toCommit(
  branch: BranchRecord,
  { version, account, createdAt }: Pick<FileVersionRecord, 'version' | 'account' | 'createdAt'>,
): CommitRecord {
  return { fileId: branch.id, version, isHead: version === branch.version, account, createdAt }
}
