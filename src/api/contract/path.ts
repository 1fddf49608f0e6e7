// Where the routes of this version are, below the URL of an API.

export const API_PREFIX = '/api/v1/orchestration'
