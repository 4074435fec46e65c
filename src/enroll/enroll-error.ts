/** Why a host is not enrolled: one line with the problem and its remedy. */
export class EnrollError extends Error {
  override readonly name = 'EnrollError'

  constructor(message: string, options?: ErrorOptions) {
    const lines = message.split('\n').map((line) => line.trim())
    super(lines.filter((line) => line !== '').join(' '), options)
  }
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
