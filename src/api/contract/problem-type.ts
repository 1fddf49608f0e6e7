// What the type of every problem begins with; its code follows. Commands compare it, and load nothing else for that.

export const PROBLEM_TYPE_PREFIX = 'urn:servo:problem:'
