/** What the answer of a private manager to `vcl.inline` says about a text. */

export type CompileVerdict =
  | { readonly kind: 'compiles' }
  /** With the cache's words, whole. */
  | { readonly kind: 'refused'; readonly text: string }
  /** The compiler ran into a limit. */
  | { readonly kind: 'exceeded'; readonly limit: 'cpu' | 'memory' }

/** mgt_vcc.c: the text passed the VCL and the C compiler, and only then was to be opened. */
const openFailed = /^Running dlopen failed\b/m
/** Of gcc and clang in the C locale, and of the dynamic linker before they start. */
const outOfCpu = /CPU time limit exceeded|-compiler failed, signal (?:24|9)\b/
const outOfMemory =
  /out of memory|[Cc]annot allocate memory|virtual memory exhausted|bad_alloc|failed to map segment/

/** @param refusal the words of the refusal */
export function judgeRefusal(refusal: string): CompileVerdict {
  if (openFailed.test(refusal)) return { kind: 'compiles' }
  const said = findCompilerWords(refusal)
  if (outOfCpu.test(said)) return { kind: 'exceeded', limit: 'cpu' }
  if (outOfMemory.test(said)) return { kind: 'exceeded', limit: 'memory' }
  return { kind: 'refused', text: refusal }
}

/** Without what the VCL compiler says: it quotes the author's lines, and they may say anything. */
function findCompilerWords(refusal: string): string {
  const start = refusal.lastIndexOf('Message from C-compiler:')
  if (start >= 0) return refusal.slice(start)
  return /^Running VCC-compiler failed, signal \d+.*$/m.exec(refusal)?.[0] ?? ''
}
