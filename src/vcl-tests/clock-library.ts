/** The library that moves the clock of a private cache; null: it was not built. */
export const clockLibrary: string | null = null
