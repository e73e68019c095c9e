<h1>Invoice {{ $number }}</h1>
