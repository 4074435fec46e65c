/** Returns a function that gives equal values the same number, as short keys for long texts and for objects. */
export function numberValues(): (value: unknown) => number {
  const numbers = new Map<unknown, number>()
  return (value) => {
    const known = numbers.get(value)
    if (known !== undefined) return known
    numbers.set(value, numbers.size)
    return numbers.size - 1
  }
}
