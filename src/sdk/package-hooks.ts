// Node's hooks for the package itself: a module in a folder that does not have it is given the one of the installation that
// loads it, so that a project can begin with one file. What a project has installed goes first.

import type { ResolveFnOutput, ResolveHook, ResolveHookContext } from 'node:module'

const ENTRY = new URL('./index.js', import.meta.url).href

/** For `register`, in a thread of Node's own. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context)
  } catch (error) {
    return entryFor(specifier, error)
  }
}

type ResolveSync = (
  specifier: string,
  context: ResolveHookContext,
  nextResolve: (specifier: string, context?: ResolveHookContext) => ResolveFnOutput,
) => ResolveFnOutput

/** The same for `registerHooks`, which Node has beside it, and then instead of it. */
export const resolveSync: ResolveSync = (specifier, context, nextResolve) => {
  try {
    return nextResolve(specifier, context)
  } catch (error) {
    return entryFor(specifier, error)
  }
}

function entryFor(specifier: string, error: unknown): ResolveFnOutput {
  if (specifier !== 'servo' || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
  return { url: ENTRY, format: 'module', shortCircuit: true }
}
