/** Checks of values that came as JSON, put together to tables of fields: each answers in words what is wrong. */

/** Answers what is wrong, undefined when nothing is. */
export type Check = (value: unknown) => string | undefined
export type Shape<T> = Readonly<Record<keyof T, Check>>

export function isKey<T extends object>(table: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(table, key)
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function record(shape: Readonly<Record<string, Check>>): Check {
  const fields = Object.entries(shape)
  return (value) => {
    if (!isRecord(value)) return 'must be an object'
    for (const [name, check] of fields) {
      const problem = check(value[name])
      if (problem !== undefined) return `${name} ${problem}`
    }
    return undefined
  }
}

export function list(item: Check, limit: number): Check {
  return (value) => {
    if (!Array.isArray(value)) return 'must be a list'
    if (value.length > limit) return `has ${value.length} members, at most ${limit}`
    for (const [index, member] of value.entries()) {
      const problem = item(member)
      if (problem !== undefined) return `[${index}] ${problem}`
    }
    return undefined
  }
}

export function orNull(check: Check): Check {
  return (value) => (value === null ? undefined : check(value))
}

export function orAbsent(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value))
}

export function oneOf(words: readonly string[]): Check {
  const known = new Set<unknown>(words)
  return (value) => (known.has(value) ? undefined : `must be one of ${words.join(', ')}`)
}

export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER): Check {
  return (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}`
}

export function matching(pattern: RegExp, what: string): Check {
  return (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : `must be ${what}`
}

/** Of a name, by the rule that all names of its kind follow. */
export function named(findProblem: (name: string) => string | null): Check {
  return (value) => {
    if (typeof value !== 'string') return 'must be a text'
    const problem = findProblem(value)
    return problem === null ? undefined : `is not a name: ${problem}`
  }
}

export const finite: Check = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a finite number'

/** A text of one message is bounded by the message itself. */
export const text: Check = (value) => (typeof value === 'string' ? undefined : 'must be a text')
export const flag: Check = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false'
export const anything: Check = () => undefined
