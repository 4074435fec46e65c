/** What the answer of a private manager to `vcl.inline` says about a text. */

export type CompileVerdict =
  | { readonly kind: 'compiles' }
  /** With the cache's words, whole. */
  | { readonly kind: 'refused'; readonly text: string }
  /** The compiler ran into a limit. */
  | { readonly kind: 'exceeded'; readonly limit: 'cpu' | 'memory' }

/** The last line but one says what failed (mgt_vcc.c). */
const failedForm = /^Running (\S+) failed, (.*)$/gm
/** Of gcc and clang in the C locale, and of the dynamic linker before they start. */
const outOfCpu = /CPU time limit exceeded/
const outOfMemory =
  /out of memory|[Cc]annot allocate memory|virtual memory exhausted|bad_alloc|failed to map segment/
/** SIGXCPU, and what follows where that is ignored. */
const endedByLimit = /^signal (?:24|9)\b/

/** @param refusal the words of the refusal */
export function judgeRefusal(refusal: string): CompileVerdict {
  const [, program = '', how = ''] = [...refusal.matchAll(failedForm)].at(-1) ?? []
  // It passed both compilers; without the C compiler there is nothing to open.
  if (program === 'dlopen') return { kind: 'compiles' }
  if (endedByLimit.test(how)) return { kind: 'exceeded', limit: 'cpu' }
  // What the VCL compiler says quotes the author's lines, which may say anything.
  const start = program === 'C-compiler' ? refusal.lastIndexOf('Message from C-compiler:') : -1
  const said = start < 0 ? '' : refusal.slice(start)
  if (outOfCpu.test(said)) return { kind: 'exceeded', limit: 'cpu' }
  if (outOfMemory.test(said)) return { kind: 'exceeded', limit: 'memory' }
  return { kind: 'refused', text: refusal }
}
