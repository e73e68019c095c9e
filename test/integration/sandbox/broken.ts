/** Cannot be started. */
throw new Error('broken on purpose');
