/** The service's user on this host, and what it may read: root takes over its rights for a moment. */
import { readFileSync } from 'node:fs'
import { getgroups, setegid, seteuid, setgroups } from 'node:process'
import { EnrollError } from './enroll-error.js'

export interface HostUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
  /** From `/etc/group`, and those that its unit adds. */
  readonly groups: readonly number[]
}

/** Throws EnrollError for a user or group that does not exist. */
export function findHostUser(name: string, unitGroups: readonly string[]): HostUser {
  const [, , uid, gid] = readEntries('/etc/passwd').find(([entry]) => entry === name) ?? []
  if (uid === undefined || gid === undefined)
    throw new EnrollError(
      `there is no user ${name}: install the package cachefleet-agent, which makes it`,
    )
  const groups = readEntries('/etc/group')
  const missing = unitGroups.find((group) => !groups.some(([entry]) => entry === group))
  if (missing !== undefined)
    throw new EnrollError(
      `there is no group ${missing}, which the service's unit names: systemd-sysusers makes it`,
    )
  const own = groups.filter(
    ([entry = '', , , members = '']) =>
      unitGroups.includes(entry) || members.split(',').includes(name),
  )
  return {
    name,
    uid: Number(uid),
    gid: Number(gid),
    groups: [...new Set([Number(gid), ...own.map(([, , id]) => Number(id))])],
  }
}

function readEntries(file: string): readonly (readonly string[])[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
}

/** Nothing else may run meanwhile, because the rights apply to the whole process. Only for root. */
export function actAs<T>(user: HostUser, work: () => T): T {
  const before = { uid: 0, gid: 0, groups: getgroups?.() ?? [] }
  takeRights(user)
  try {
    return work()
  } finally {
    seteuid?.(before.uid)
    takeRights(before)
  }
}

/** Sets the user last: after that nothing else may be changed. */
function takeRights({ uid, gid, groups }: Pick<HostUser, 'uid' | 'gid' | 'groups'>): void {
  setgroups?.([...groups])
  setegid?.(gid)
  seteuid?.(uid)
}
