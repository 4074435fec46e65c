/**
 * Behaviour that differs between releases of the cache and needs special handling, one row each. Features that a cache reports itself are
 * queried (capabilities.ts); these it does not report. Each row is tested on the simulated releases and on the real ones.
 */
import { isAtLeast } from './release.js'

interface Quirk {
  /** Ranges from the first release, before the second; null: all later ones. */
  readonly releases: readonly (readonly [from: string, before: string | null])[]
  /** Whether to assume it for a build without a version. */
  readonly isAssumed: boolean
  /** The cache's behaviour. */
  readonly fact: string
  /** How it is handled. */
  readonly answer: string
  /** Where the cache's source shows it. */
  readonly source: string
}

const rows = {
  patternKillsChild: {
    // Releases before 6.0 were not tested.
    releases: [
      ['0', '6.0'],
      ['7.6', '8.0'],
    ],
    isAssumed: true,
    fact: '`backend.list` and `backend.set_health` with a pattern that has a dot kill the child as soon as a label exists',
    answer:
      'such patterns are not sent while a label is loaded: health changes are refused, the warm-up is a fixed wait',
    source: 'cache_director.c, VCL_IterDirector; issue 4390 of the cache',
  },
  shownLabelKillsChild: {
    releases: [['0', '6.3']],
    isAssumed: true,
    fact: '`vcl.show` of a label kills the child',
    answer: 'the source of a label is not asked for, and such a command of a user is refused',
    source: 'cache_vcl.c, vcl_cli_show',
  },
  refusesAliases: {
    releases: [['8.0', null]],
    isAssumed: true,
    fact: '`-r` with the alias of a parameter ends the start; a protected parameter protects its aliases',
    answer: 'aliases are left out behind `-r`',
    source: 'mgt_param.c, MCF_ParamProtect',
  },
  protectsAliasesApart: {
    releases: [['7.2', '8.0']],
    isAssumed: false,
    fact: 'a protected `vcc_feature` leaves `vcc_allow_inline_c` and its other aliases open, and the reverse',
    answer: 'both names are given to `-r`',
    source: 'mgt_param.c, MCF_ParamProtect',
  },
  waitsForReferences: {
    releases: [['8.0', null]],
    isAssumed: true,
    fact: 'a child that is stopped waits up to 60 s for workers that hold a VCL; the manager answers nothing meanwhile',
    answer: 'the agent reads the child’s threads and tells that it is stopping',
    source: 'cache_vcl.c, VCL_Shutdown',
  },
  opensBootFileAsUser: {
    releases: [['0', '6.2']],
    isAssumed: false,
    fact: 'started by root, it opens the file of `-I` as the user of its jail',
    answer:
      'the drop-in of 6.0 gives that user a copy; a private cache starts without and is loaded by the agent',
    source: 'mgt_main.c',
  },
  countsHardPurgesOnly: {
    releases: [['7.5', null]],
    isAssumed: true,
    fact: 'a soft purge is not counted in `MAIN.n_purges`',
    answer:
      'a purge by a method that the VCL purges softly is reported as not purged, with the reason',
    source: 'cache_hash.c, HSH_Purge',
  },
  discardsOneName: {
    releases: [['0', '6.6']],
    isAssumed: false,
    fact: '`vcl.discard` takes one name, and there is no `vcl.deps`',
    answer: 'programs are discarded one by one, those that depend on others first',
    source: 'mgt_vcl.c, mcf_vcl_discard',
  },
  joinsStates: {
    releases: [['0', '6.2']],
    isAssumed: false,
    fact: '`vcl.list` prints state and temperature in one field, `auto/warm`',
    answer: 'both forms are read',
    source: 'cache_vcl.c, vcl_cli_list',
  },
  listsUnsetAsProbed: {
    releases: [['0', '6.2']],
    isAssumed: false,
    fact: 'a backend whose health was never set is listed as `probe`, also where nothing probes it; later as `healthy`',
    answer: 'the word is taken as not set',
    source: 'cache_backend_cfg.c, do_list',
  },
  refusesJsonBackends: {
    releases: [['0', '6.1']],
    isAssumed: false,
    fact: '`backend.list -j` is announced, and answered with 102',
    answer: 'the text is asked for and read',
    source: 'cache_director.c, backend_cmds',
  },
  lacksBanAges: {
    releases: [['0', '6.2']],
    isAssumed: false,
    fact: 'bans on `obj.age`, `obj.ttl`, `obj.grace` and `obj.keep` are refused',
    answer: 'the invalidation fails on that agent with the words of the cache',
    source: 'tbl/ban_vars.h',
  },
  refusesQuotedNeighbours: {
    releases: [['7.0', '7.5']],
    isAssumed: false,
    fact: 'two quoted words side by side are a syntax error',
    answer: 'a word is quoted only where it has to be, never two side by side',
    source: 'vav.c, VAV_ParseTxt',
  },
  namesBuiltinPlainly: {
    releases: [['0', '6.6']],
    isAssumed: false,
    fact: 'the built-in VCL is called `Builtin`, later `<builtin>`',
    answer: 'both names are known where the compiler’s texts and `vcl.show -v` are read',
    source: 'vcc_compile.c',
  },
  printsBitsInWords: {
    releases: [['7.5', null]],
    isAssumed: true,
    fact: 'parameters of bits are printed as `none,+a,+b` or `all`',
    answer: 'both forms are compared as sets',
    source: 'mgt_param_bits.c',
  },
} as const satisfies Readonly<Record<string, Quirk>>

export type QuirkName = keyof typeof rows

export const quirks: Readonly<Record<QuirkName, Quirk>> = rows

export const quirkNames = Object.keys(rows) as readonly QuirkName[] // its own keys

/** `version`: for example `7.1.1`; null or empty if the banner has none. */
export function hasQuirk(version: string | null, name: QuirkName): boolean {
  const { releases, isAssumed } = quirks[name]
  if (version === null || version === '') return isAssumed
  return releases.some(
    ([from, before]) =>
      isAtLeast(version, from) && (before === null || !isAtLeast(version, before)),
  )
}
