import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, call } from '../api.ts';
import { GALLERY } from '../gallery.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';

const BLANK = {
  content:
    '<!doctype html>\n<html lang="en">\n<title>Invoice {{ number }}</title>\n<h1>Invoice {{ number }}</h1>\n<p>For {{ customer }}</p>\n</html>\n',
  sampleData: '{\n  "number": "2026-001",\n  "customer": "Ada Lovelace"\n}',
};

/** Chooses what a new template begins as. */
export default function NewTemplate() {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState('');
  const beginning = GALLERY.find(({ slug }) => slug === chosen);
  const make = useMutation({
    mutationFn: async () => {
      const begun = (await beginning?.load()) ?? BLANK;
      return call(
        api.POST('/user/templates', { body: { ...begun, name: name.trim() || (beginning?.name ?? '') } }),
      );
    },
    onSuccess: ({ id }) => navigate(`/templates/${id}`),
  });
  return (
    <form
      className="gallery-form"
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      <fieldset className="gallery">
        <legend>Begin with</legend>
        {[{ slug: '', name: 'Blank', description: 'A heading and a line.', picture: '' }, ...GALLERY].map(
          ({ slug, name: title, description, picture }) => (
            <label key={slug} className="beginning">
              <input
                type="radio"
                name="beginning"
                checked={slug === chosen}
                onChange={() => setChosen(slug)}
              />
              {picture === '' ? <span className="sheet" /> : <img className="sheet" src={picture} alt="" />}
              <strong>{title}</strong>
              <small className="hint">{description}</small>
            </label>
          ),
        )}
      </fieldset>
      <TextField
        label="Name"
        required={beginning === undefined}
        placeholder={beginning?.name}
        value={name}
        onChange={setName}
      />
      {make.error !== null && <ErrorNote error={make.error} />}
      <Button kind="primary" type="submit" busy={make.isPending}>
        Create template
      </Button>
    </form>
  );
}
