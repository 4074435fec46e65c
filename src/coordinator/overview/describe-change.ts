/** Describes in words what a call changed, from one table of operations (docs/behaviour.md, Overview). */
import { readObjectId } from '../../resources/object-id.js'

/** A call as the API log records it. */
interface LoggedCall {
  readonly method: string
  /** With the prefix of its API, without the query string. */
  readonly path: string
  readonly keyId: number | null
}

/** What is known about a call beyond the log; null: not known, or the reader may not see it. */
interface ChangeDetails {
  /** The name of the object. */
  readonly name: string | null
  /** The revision of a group that the call created. */
  readonly revision: number | null
  /** What an invalidation does, shortened: `obj.status == 404`. */
  readonly content: string | null
}

interface ChangedObject {
  /** The singular, as in `errorKey`. */
  readonly type: string
  readonly id: number | null
}

interface Change {
  readonly action: string
  /** Without the account: `deployed shop (revision 4)`. */
  readonly text: string
}

/** By a path segment of either API: the object's type, as in the other calls, and the word that names it in a text. */
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
  // Path segments of the console's API.
  cache: { type: 'agent', word: 'cache' },
  group: { type: 'vclgroup', word: 'group' },
  vcl: { type: 'file', word: 'file' },
  user: { type: 'account', word: 'account' },
  paramset: { type: 'paramset', word: 'parameter set' },
  license: { type: 'license', word: 'license' },
}

interface Wording {
  /** Matches the method and the path after the API's prefix; `#` stands for an id. */
  readonly call: RegExp
  readonly action: string
  /** `object`: `shop`, `tag web` or `a group`; `parts`: the pattern's capture groups; `typed`: `group shop`. */
  readonly write: (
    object: string,
    details: ChangeDetails,
    parts: readonly string[],
    typed: string,
  ) => string
}

/** The first match is used; the general patterns for create, change and delete come last. */
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

/** For operations on objects of every type: the text includes the type. */
function usual(call: RegExp, action: string, verb: string): Wording {
  return { call, action, write: (_, __, ___, typed) => `${verb} ${typed}` }
}

function inRevision({ revision }: ChangeDetails): string {
  return revision === null ? '' : ` (revision ${revision})`
}

/** Returns the object that the path names first; null if it names none of either API, as in a login. */
export function findChangedObject({ path, keyId }: LoggedCall): ChangedObject | null {
  const [noun = '', id = ''] = partsOf(path)
  const found = findNoun(noun)
  return found && { type: found.type, id: readId(id) ?? keyId }
}

/** Returns null for a call that changes nothing visible to anyone but its caller. */
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

/** With most verbs it is clear that the object is a group or a cache: `object` omits these types. */
function nameObject(word: string, name: string | null) {
  if (name === null) {
    const unnamed = `${/^[aeio]/i.test(word) ? 'an' : 'a'} ${word}`
    return { object: unnamed, typed: unnamed }
  }
  const typed = `${word} ${name}`
  return { object: word === 'group' || word === 'cache' ? name : typed, typed }
}

/** Returns the path segments after `/api/v1` or `/api/rest`. */
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
