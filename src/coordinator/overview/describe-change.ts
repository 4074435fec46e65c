/** What a call changed, in words: one table of operations (docs/behaviour.md, Overview). */
import { readObjectId } from '../../resources/object-id.js'

/** As the api log has it. */
interface LoggedCall {
  readonly method: string
  /** With the prefix of its API, without the query. */
  readonly path: string
  readonly keyId: number | null
}

/** What is known of it beyond the log; null: not known, or not for who reads it. */
interface ChangeDetails {
  /** Of the object. */
  readonly name: string | null
  /** Of a group, that the call made. */
  readonly revision: number | null
  /** What an invalidation does, shortened: `obj.status == 404`. */
  readonly content: string | null
}

interface ChangedObject {
  /** Its singular, as in `errorKey`. */
  readonly type: string
  readonly id: number | null
}

interface Change {
  readonly action: string
  /** Without who did it: `deployed shop (revision 4)`. */
  readonly text: string
}

/** A noun of either API by its part of the path: what it is in the other calls, and how it is called. */
const nouns: Readonly<Record<string, { readonly type: string; readonly word: string }>> = {
  agents: { type: 'agent', word: 'cache' },
  tags: { type: 'tag', word: 'tag' },
  files: { type: 'file', word: 'file' },
  vcls: { type: 'file', word: 'file' },
  deployments: { type: 'deployment', word: 'deployment' },
  domains: { type: 'domain', word: 'domain' },
  vclgroups: { type: 'vclgroup', word: 'group' },
  invalidations: { type: 'invalidation', word: 'invalidation' },
  certificates: { type: 'certificate', word: 'certificate' },
  organizations: { type: 'organization', word: 'organization' },
  accounts: { type: 'account', word: 'account' },
  users: { type: 'user', word: 'user' },
  permissions: { type: 'permission', word: 'permission' },
  sessions: { type: 'session', word: 'API token' },
  idps: { type: 'idp', word: 'identity provider' },
  webhooks: { type: 'webhook', word: 'webhook' },
  jointokens: { type: 'jointoken', word: 'join token' },
  // Of the console.
  cache: { type: 'agent', word: 'cache' },
  group: { type: 'vclgroup', word: 'group' },
  vcl: { type: 'file', word: 'file' },
  user: { type: 'account', word: 'account' },
  paramset: { type: 'paramset', word: 'parameter set' },
  license: { type: 'license', word: 'license' },
}

interface Wording {
  /** Of the method and the path behind the API's prefix; `#` stands for an id. */
  readonly call: RegExp
  readonly action: string
  /** `object`: `shop`, `tag web` or `a group`; `parts`: what the pattern caught; `typed`: `group shop`. */
  readonly write: (
    object: string,
    details: ChangeDetails,
    parts: readonly string[],
    typed: string,
  ) => string
}

/** The first that fits; what is made, changed or deleted in the usual way stands behind them. */
const wordings: readonly Wording[] = [
  {
    call: /^PUT vclgroups\/#\/deploy$/,
    action: 'deploy',
    write: (object, details) => `deployed ${object}${inRevision(details)}`,
  },
  {
    call: /^PUT group\/#\/vcl\/#\/deploy$/,
    action: 'deploy',
    write: (object, details) => `deployed ${object}${inRevision(details)}`,
  },
  {
    call: /^PUT vclgroups\/#\/rollback$/,
    action: 'rollback',
    write: (object, details) => `rolled back ${object}${inRevision(details)}`,
  },
  {
    call: /^PUT vclgroups\/#\/reload$/,
    action: 'reload',
    write: (object, details) => `recompiled ${object}${inRevision(details)}`,
  },
  {
    call: /^PUT vclgroups\/#\/promote$/,
    action: 'promote',
    write: (object, details) => `promoted the stage of ${object}${inRevision(details)}`,
  },
  plain(/^PUT vclgroups\/#\/undeploy$/, 'undeploy', 'undeployed'),
  plain(/^PUT vclgroups\/#\/cancel$/, 'cancel', 'cancelled the deploy of'),
  plain(/^PUT vclgroups\/#\/stage$/, 'stage', 'staged'),
  plain(/^PUT vclgroups\/#\/delstage$/, 'delstage', 'discarded the stage of'),
  plain(/^PUT certificates\/#\/deploy$/, 'deploy', 'deployed'),
  plain(/^PUT certificates\/#\/rollback$/, 'rollback', 'rolled back'),
  plain(/^PUT agents\/#\/unlock$/, 'unlock', 'unlocked'),
  { call: /^PUT agents\/unlock$/, action: 'unlock', write: () => 'unlocked several caches' },
  plain(/^POST (?:agents|cache)\/#\/(?:command|engineadm)$/, 'command', 'sent a command to'),
  {
    call: /^PUT (?:agents|cache)\/#\/params\/([^/]+)$/,
    action: 'set',
    write: (object, _, [param = '']) => `set parameter ${param} of ${object}`,
  },
  {
    call: /^DELETE (?:agents|cache)\/#\/params\/([^/]+)$/,
    action: 'set',
    write: (object, _, [param = '']) => `reset parameter ${param} of ${object}`,
  },
  {
    call: /^PUT (?:agents|cache)\/#\/(?:backends|setbackend)\/([^/]+)\/([^/]+)$/,
    action: 'set',
    write: (object, _, [backend = '', health = '']) =>
      `set backend ${backend} of ${object} to ${health}`,
  },
  {
    call: /^POST invalidations$/,
    action: 'invalidate',
    write: (_, { content }) => content ?? 'created an invalidation',
  },
  {
    call: /^POST group\/#\/ban$/,
    action: 'ban',
    write: (object) => `banned objects on the caches of ${object}`,
  },
  plain(/^PUT invalidations\/#\/retry$/, 'retry', 'retried'),
  plain(/^PUT invalidations\/#\/cancel$/, 'cancel', 'cancelled'),
  plain(/^PUT organizations\/#\/assign$/, 'assign', 'added an account to'),
  plain(/^PUT organizations\/#\/unassign$/, 'unassign', 'removed an account from'),
  plain(/^PUT group\/#\/cache\/#$/, 'assign', 'added a cache to'),
  plain(/^DELETE group\/#\/cache\/#$/, 'unassign', 'removed a cache from'),
  usual(/^POST vcl\/#\/push(?:\/[^/]+)?$/, 'update', 'saved'),
  usual(/^(?:PUT|DELETE) group\/#\/.+$/, 'update', 'changed'),
  { call: /^PUT auth\/password$/, action: 'update', write: () => 'changed their password' },
  usual(/^POST [a-z]+(?:\/.+)?$/, 'create', 'created'),
  usual(/^(?:PUT|PATCH) [a-z]+(?:\/.+)?$/, 'update', 'changed'),
  usual(/^DELETE [a-z]+(?:\/.+)?$/, 'delete', 'deleted'),
]

function plain(call: RegExp, action: string, verb: string): Wording {
  return { call, action, write: (object) => `${verb} ${object}` }
}

/** What is done to objects of every kind: the kind is told too. */
function usual(call: RegExp, action: string, verb: string): Wording {
  return { call, action, write: (_, __, ___, typed) => `${verb} ${typed}` }
}

function inRevision({ revision }: ChangeDetails): string {
  return revision === null ? '' : ` (revision ${revision})`
}

/** What the path names first. Null: nothing of either API, as a login is. */
export function findChangedObject({ path, keyId }: LoggedCall): ChangedObject | null {
  const [noun = '', id = ''] = partsOf(path)
  const found = findNoun(noun)
  return found && { type: found.type, id: readId(id) ?? keyId }
}

/** Null: a call that changes nothing that anybody but its caller notices. */
export function describeChange(call: LoggedCall, details: ChangeDetails): Change | null {
  const parts = partsOf(call.path)
  const found = findNoun(parts[0] ?? '')
  if (!found && parts.join('/') !== 'auth/password') return null
  const text = `${call.method} ${parts.map((part) => (readId(part) ? '#' : part)).join('/')}`
  const { object, typed } = nameObject(found?.word ?? '', details.name)
  for (const { call: pattern, action, write } of wordings) {
    const caught = pattern.exec(text)
    if (caught) return { action, text: write(object, details, caught.slice(1), typed) }
  }
  return null
}

function findNoun(part: string) {
  return Object.hasOwn(nouns, part) ? (nouns[part] ?? null) : null
}

/** What groups and caches are is clear by most verbs. */
function nameObject(word: string, name: string | null) {
  if (name === null) {
    const unnamed = `${/^[aeio]/i.test(word) ? 'an' : 'a'} ${word}`
    return { object: unnamed, typed: unnamed }
  }
  const typed = `${word} ${name}`
  return { object: word === 'group' || word === 'cache' ? name : typed, typed }
}

/** Behind `/api/v1` or `/api/rest`. */
function partsOf(path: string): readonly string[] {
  return path.split('/').slice(3).map(decodePart)
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).slice(0, 100)
  } catch {
    return part.slice(0, 100)
  }
}

function readId(part: string): number | undefined {
  return /^[1-9]\d{0,15}$/.test(part) ? Number(part) : readObjectId(part)?.number
}
