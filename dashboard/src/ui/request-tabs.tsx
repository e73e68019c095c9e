import { useState } from 'react';
import { type RenderBody, requestCode } from '../request-code.ts';
import { Code } from './bits.tsx';

/** A request in the language of the reader. */
export function RequestTabs({ body }: { body: RenderBody }) {
  const [chosen, setChosen] = useState('curl');
  const languages = requestCode(body);
  const code = languages.find(([language]) => language === chosen)?.[1] ?? '';
  return (
    <div>
      <fieldset className="tabs">
        <legend className="unseen">Language</legend>
        {languages.map(([language]) => (
          <label key={language}>
            <input
              type="radio"
              name="language"
              checked={language === chosen}
              onChange={() => setChosen(language)}
            />
            {language}
          </label>
        ))}
      </fieldset>
      <Code label={chosen} text={code} />
    </div>
  );
}
