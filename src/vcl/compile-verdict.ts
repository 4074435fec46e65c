/** Interprets a private manager's response to `vcl.inline`. */

export type CompileVerdict =
  | { readonly kind: 'compiles' }
  /** The cache's complete message. */
  | { readonly kind: 'refused'; readonly text: string }
  /** The compiler exceeded a limit. */
  | { readonly kind: 'exceeded'; readonly limit: 'cpu' | 'memory' }

/** The last line but one names the failed program (mgt_vcc.c). */
const failedForm = /^Running (\S+) failed, (.*)$/gm
/** Messages of gcc and clang in the C locale, and of the dynamic linker before they start. */
const outOfCpu = /CPU time limit exceeded/
const outOfMemory =
  /out of memory|[Cc]annot allocate memory|virtual memory exhausted|bad_alloc|failed to map segment/
/** SIGXCPU, and the SIGKILL that follows if it is ignored. */
const endedByLimit = /^signal (?:24|9)\b/

/** @param refusal the cache's complete message */
export function judgeRefusal(refusal: string): CompileVerdict {
  const [, program = '', how = ''] = [...refusal.matchAll(failedForm)].at(-1) ?? []
  // Reaching dlopen means that the VCL compiled: if the C compiler is skipped, there is no file to open.
  if (program === 'dlopen') return { kind: 'compiles' }
  if (endedByLimit.test(how)) return { kind: 'exceeded', limit: 'cpu' }
  // Messages of the VCL compiler are skipped: they quote the author's lines, which may contain anything.
  const start = program === 'C-compiler' ? refusal.lastIndexOf('Message from C-compiler:') : -1
  const message = start < 0 ? '' : refusal.slice(start)
  if (outOfCpu.test(message)) return { kind: 'exceeded', limit: 'cpu' }
  if (outOfMemory.test(message)) return { kind: 'exceeded', limit: 'memory' }
  return { kind: 'refused', text: refusal }
}
