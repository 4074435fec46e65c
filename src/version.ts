/** This program's version, as package.json has it: agents report it, the coordinator judges the skew by it. */
export const version = '0.1.0'
