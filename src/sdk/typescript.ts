// TypeScript for a Node that has no loader of its own for it: types are stripped, nothing else is changed. tsx would do
// it too, but takes three times as long to start, and names every closure when it is made (esbuild's keepNames), which
// made a loop of them 100 times slower.

import { transformSync } from '@swc/core'

type Stripped = { readonly code: string } | { readonly line: number | null; readonly what: string }

/** `source` without its types, or the line that is no TypeScript and why. */
export function stripTypes(source: string, filename: string): Stripped {
  try {
    return transformSync(source, {
      filename,
      swcrc: false,
      configFile: false,
      sourceMaps: 'inline',
      module: { type: 'es6' },
      jsc: { target: 'es2022', parser: { syntax: 'typescript' }, transform: { verbatimModuleSyntax: true } },
    })
  } catch (error) {
    return readFault(error instanceof Error ? error.message : String(error))
  }
}

/** swc draws its errors: a mark and what is wrong, then a frame that begins with file, line and column. */
function readFault(message: string): Stripped {
  // Colours are escapes, which the drawing has even where nobody can see them.
  const plain = message.replaceAll(/\u001b\[[0-9;]*m/g, '')
  const what = /^\s*[x×]\s*(.+)$/mu.exec(plain)?.[1] ?? plain.split('\n')[0] ?? ''
  const line = /[,╭][-─]\[.*:(\d+):\d+\]/u.exec(plain)?.[1]
  return { line: line === undefined ? null : Number(line), what: what.trim() }
}
