/** A VCL branch and its commits as the console answers them (docs/behaviour.md, Console VCL). */
import { Type } from 'typebox'
import { toCommitId, toObjectId } from '../../../resources/object-id.js'
import type { BranchRecord, CommitRecord, WholeCommit } from './vcls.js'
import { toConsoleTime } from '../console-time.js'

export const branchSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  headCommitId: Type.String(),
  created: Type.String(),
  timestamp: Type.String(),
})

export const wholeBranchSchema = Type.Object({
  ...branchSchema.properties,
  content: Type.String({ description: 'Of the head' }),
})

export const commitSchema = Type.Object({
  id: Type.String(),
  branch: Type.String({ description: 'Its id' }),
  head: Type.Boolean({ description: 'Whether it is the head' }),
  committedByUser: Type.String(),
  created: Type.String(),
  timestamp: Type.String(),
})

export const wholeCommitSchema = Type.Object({
  ...commitSchema.properties,
  content: Type.String(),
})

export const pushedSchema = Type.Object({
  ...wholeCommitSchema.properties,
  message: Type.String({ description: 'Where it was compiled, or why nowhere' }),
})

export function toBranchView({ id, name, description, version, ...branch }: BranchRecord) {
  return {
    id: toObjectId('vcl', id),
    name,
    description,
    headCommitId: toCommitId({ fileId: id, version }),
    created: toConsoleTime(branch.createdAt),
    timestamp: toConsoleTime(branch.updatedAt),
  }
}

export function toCommitView({ fileId, version, isHead, account, createdAt }: CommitRecord) {
  const time = toConsoleTime(createdAt)
  return {
    id: toCommitId({ fileId, version }),
    branch: toObjectId('vcl', fileId),
    head: isHead,
    committedByUser: account,
    created: time,
    timestamp: time,
  }
}

export function toWholeCommitView(commit: WholeCommit) {
  return { ...toCommitView(commit), content: commit.content }
}
