/** Beside the state, which is that of what caches serve: what was given last is on none of them. */
export const deployFailed = 'deploy failed'
