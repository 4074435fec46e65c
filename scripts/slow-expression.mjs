/**
 * Finds regular expressions whose matching may take more than linear time: two parts without an upper bound that can read the same
 * characters one behind the other. A search is such a part, too: it begins anew at each character. The expression becomes an automaton;
 * it is slow when a word leads from a state in a loop back to it, to a state of another loop, and from there back to that, and what
 * follows may fail. Assertions count as if they might hold or fail anywhere, repetitions with an upper bound as a few.
 */
import { RegExpParser } from '@eslint-community/regexpp'

/** What stands for all characters: ASCII, and some that classes treat apart. */
const samples = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...['\u00a0', '\u00e9', '\u0130', '\u017f', '\u2028', '\u20ac', '\ud83d', '\ufeff', '\u4e2d'],
]
const anyCharacter = (1n << BigInt(samples.length)) - 1n
/** Repetitions with a bound are written out up to so many. */
const expandedMost = 8

/** The second of the parts, null when the expression is linear. */
export function findSlowPart(pattern, flags) {
  const { alternatives } = new RegExpParser().parsePattern(pattern, 0, pattern.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  })
  const atStart = findIn(alternatives, { flags, isSearch: false })
  return flags.includes('y')
    ? atStart
    : (atStart ?? findIn(alternatives, { flags, isSearch: true }))
}

function findIn(alternatives, { flags, isSearch }) {
  const automaton = { states: [], flags, isSearch, inner: [] }
  const accept = addState(automaton)
  const search = addState(automaton)
  if (isSearch) addRead(search, { set: anyCharacter, to: search, raw: 'the search' })
  for (const { elements } of alternatives) {
    const begin = addState(automaton)
    const isLine = elements[0]?.kind === 'start' && isSearch
    if (isLine) addRead(search, { set: setOf('\\n', ''), to: begin, raw: '^' })
    else addSkip(search, begin)
    const rest = isLine ? elements.slice(1) : elements
    if (!isLine || flags.includes('m')) addSkip(addSequence(automaton, rest, begin), accept)
  }
  const slow = findAmbiguity(automaton, accept)
  if (slow !== null) return slow
  for (const inner of automaton.inner) {
    const found = findIn(inner, { flags, isSearch: false })
    if (found !== null) return found
  }
  return null
}

function addState({ states }) {
  const state = { id: states.length, skips: [], reads: [] }
  states.push(state)
  return state
}

function addRead(from, read) {
  from.reads.push(read)
}

function addSkip(from, to, fails = 'never') {
  from.skips.push({ to, fails })
}

/** Answers the state behind. */
function addSequence(automaton, elements, from) {
  return elements.reduce((at, element) => addElement(automaton, element, at), from)
}

function addElement(automaton, element, from) {
  if (element.type === 'Quantifier') return addQuantifier(automaton, element, from)
  const to = addState(automaton)
  if (element.type === 'Group' || element.type === 'CapturingGroup') {
    for (const { elements } of element.alternatives)
      addSkip(addSequence(automaton, elements, from), to)
  } else if (element.type === 'Assertion' || element.type === 'Backreference') {
    if (element.alternatives) automaton.inner.push(element.alternatives)
    // Where a search has come to, a text does not begin.
    if (element.kind === 'start' && automaton.isSearch && !automaton.flags.includes('m')) return to
    const isEnd = element.kind === 'end' && !automaton.flags.includes('m')
    addSkip(from, to, isEnd ? 'before the end' : 'anywhere')
  } else {
    addRead(from, { set: setOf(element.raw, automaton.flags), to, raw: element.raw })
  }
  return to
}

function addQuantifier(automaton, { min, max, element }, from) {
  const to = addState(automaton)
  if (max === Infinity) {
    const loop = addState(automaton)
    addSkip(addTimes(automaton, element, from, Math.min(min, expandedMost)), loop)
    addSkip(addElement(automaton, element, loop), loop)
    addSkip(loop, to)
    return to
  }
  const most = Math.min(max, expandedMost)
  let at = addTimes(automaton, element, from, Math.min(min, most))
  for (let count = Math.min(min, most); count < most; count++) {
    addSkip(at, to)
    at = addElement(automaton, element, at)
  }
  addSkip(at, to)
  return to
}

function addTimes(automaton, element, from, count) {
  return addSequence(automaton, Array(count).fill(element), from)
}

const sets = new Map()

/** One bit for each of the samples. */
function setOf(raw, flags) {
  const key = `${flags}/${raw}`
  const known = sets.get(key)
  if (known !== undefined) return known
  const one = new RegExp(`^(?:${raw})$`, flags.replace(/[gym]/g, ''))
  const bits = samples.map((sample, at) => (one.test(sample) ? 1n << BigInt(at) : 0n))
  const set = bits.reduce((sum, bit) => sum | bit, 0n)
  sets.set(key, set)
  return set
}

function findAmbiguity({ states }, accept) {
  const steps = states.map((state) => [...readsFrom(state)])
  const component = findComponents(steps)
  const certain = states.map((state) => isCertain(state, accept, steps))
  const isLoop = ({ id }) => steps[id].some(({ to }) => component[to.id] === component[id])
  const loops = states.filter(isLoop)
  const empty = states.find((state) => state.skips.some(({ to }) => leadsTo(to, state, anyWay)))
  if (empty) return 'an empty repetition'
  for (const p of loops) {
    const twice = findTwoWays(p, steps, component)
    if (twice !== null) return twice
    for (const q of loops) {
      if (q === p || certain[q.id]) continue
      const slow = findChain(p, q, { steps, component, certain })
      if (slow !== null) return slow
    }
  }
  return null
}

/** One for each way to it, so that two ways show. */
function* readsFrom(state, path = []) {
  for (const read of state.reads) yield { ...read }
  for (const { to } of state.skips) if (!path.includes(to)) yield* readsFrom(to, [...path, state])
}

/** Whatever follows, there is a match: nothing is tried again. */
function isCertain(state, accept, steps) {
  const isToEnd = steps[state.id].some(({ set, to }) => set === anyCharacter && to === state)
  return leadsTo(state, accept, isToEnd ? ['never', 'before the end'] : ['never'])
}

const anyWay = ['never', 'before the end', 'anywhere']

function leadsTo(state, goal, fails, seen = new Set()) {
  if (state === goal) return true
  if (seen.has(state)) return false
  seen.add(state)
  return state.skips.some(
    (skip) => fails.includes(skip.fails) && leadsTo(skip.to, goal, fails, seen),
  )
}

/** States that lead to each other have the same number. */
function findComponents(steps) {
  const reached = steps.map((_, from) => {
    const seen = new Set()
    const left = [from]
    for (let at = left.pop(); at !== undefined; at = left.pop())
      for (const { to } of steps[at])
        if (!seen.has(to.id)) {
          seen.add(to.id)
          left.push(to.id)
        }
    return seen
  })
  return steps.map((_, id) =>
    Math.min(id, ...[...reached[id]].filter((other) => reached[other].has(id))),
  )
}

/** One word leads from p back to p in two ways: exponential. */
function findTwoWays(p, steps, component) {
  const isInside = ({ to }) => component[to.id] === component[p.id]
  return walk([p.id, p.id, false], `${p.id} ${p.id} true`, ([a, b, isApart]) =>
    steps[a]
      .filter(isInside)
      .flatMap((x) =>
        steps[b]
          .filter((y) => isInside(y) && (x.set & y.set) !== 0n)
          .map((y) => ({ to: [x.to.id, y.to.id, isApart || x !== y], raw: x.raw })),
      ),
  )
}

/** One word leads from p back to p, from p to q, and from q back to q: quadratic, at least. */
function findChain(p, q, { steps, component, certain }) {
  const fromP = (id) => steps[id].filter(({ to }) => component[to.id] === component[p.id])
  const staysInQ = ({ to }) => component[to.id] === component[q.id] && !certain[to.id]
  const fromQ = (id) => steps[id].filter(staysInQ)
  return walk([p.id, p.id, q.id], `${p.id} ${q.id} ${q.id}`, ([a, b, c]) =>
    fromP(a).flatMap((x) =>
      fromQ(c)
        .filter((z) => (x.set & z.set) !== 0n)
        .flatMap((z) =>
          steps[b]
            .filter((y) => (x.set & y.set & z.set) !== 0n)
            .map((y) => ({ to: [x.to.id, y.to.id, z.to.id], raw: z.raw })),
        ),
    ),
  )
}

/** Answers the characters that were read last on the way, null when there is none. */
function walk(begin, goal, next) {
  const seen = new Set()
  const left = [begin]
  for (let at = left.pop(); at !== undefined; at = left.pop())
    for (const { to, raw } of next(at)) {
      const name = to.join(' ')
      if (name === goal) return raw
      if (seen.has(name)) continue
      seen.add(name)
      left.push(to)
    }
  return null
}
